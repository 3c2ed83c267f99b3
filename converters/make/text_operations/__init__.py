"""Operations that change texts, each a plain function of a text and a random generator."""
