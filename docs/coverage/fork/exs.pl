pos(loses_queen(p1)).
neg(loses_queen(p2)).
