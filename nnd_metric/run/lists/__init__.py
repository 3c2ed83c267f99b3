"""Lists of runs: sweeps defined in a file, which can be kept, resumed and cited."""
