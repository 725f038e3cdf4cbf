neg(lift(vase)).
