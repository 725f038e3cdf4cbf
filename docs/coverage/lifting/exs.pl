pos(lift(cup)). pos(lift(jug)). neg(lift(urn)).
