% A position of many pieces, of which three matter, and one without a fork.
at(p1,white,king,sq(7,1)). at(p1,white,rook,sq(6,1)). at(p1,white,knight,sq(4,7)). at(p1,white,pawn,sq(6,2)). at(p1,white,pawn,sq(7,2)).
at(p1,black,king,sq(6,8)). at(p1,black,queen,sq(2,8)). at(p1,black,rook,sq(8,8)). at(p1,black,pawn,sq(7,7)). at(p1,black,pawn,sq(8,7)).
at(p2,white,king,sq(5,1)). at(p2,white,knight,sq(3,3)). at(p2,black,king,sq(5,8)). at(p2,black,queen,sq(4,5)).
