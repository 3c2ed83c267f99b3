"""Launchers of `here.score_here`: this process, child processes, workers of schedulers, and Ray."""
