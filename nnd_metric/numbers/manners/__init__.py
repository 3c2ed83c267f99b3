"""How stored models were scored, and whether their numbers can be compared."""
