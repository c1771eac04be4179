"""Operations on the installation as a whole."""
