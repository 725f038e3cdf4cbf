loses_queen(P) :- forked(P).
forked(P) :- checked_from(P,S), queen_attacked_from(P,S).
checked_from(P,S) :- at(P,white,knight,S), at(P,black,king,K), knight_move(S,K).
queen_attacked_from(P,S) :- at(P,black,queen,Q), knight_move(S,Q).
knight_move(sq(A,B),sq(C,D)) :- 2 =:= abs(A-C)*abs(B-D).
