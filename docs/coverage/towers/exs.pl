pos(firm(a)). pos(firm(b)). pos(firm(d)). neg(firm(f)). neg(firm(e)).
