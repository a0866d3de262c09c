"""How a formula comes about, line by line, with the numbers of the present case beside the symbols (`chain`)."""
