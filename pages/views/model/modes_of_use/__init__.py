"""The page Model's view Ways of use: a look-up table, counting when asked, counts kept as rows come and go."""
