"""What must arrive for a query to come true, found before any fact: the compile time of hypothetical answers.

A query is resolved with the rules until only inputs and negated atoms are left (`unfold`). What comes out are its
premise patterns, once per program, for everybody who asks: `check` for delay and window (`horizon`) and whether there
are hypothetical answers (`finite`), `presage plan` (`listing`), and the engines of `hypothesis/`.
"""
