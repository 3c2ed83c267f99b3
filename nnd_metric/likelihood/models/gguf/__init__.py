"""Files of llama.cpp (`.gguf`): config, tokenizer and weights in one, read whole or refused."""
