house_mates(X,Y) :- in_same_family(X,Y).
house_mates(X,Y) :- fraternity_brothers(X,Y).
in_same_family(X,Y) :- married(X,Y).
in_same_family(X,Y) :- youngster(X), youngster(Y), same_mother(X,Y).
same_mother(X,Y) :- mother(X,Z), mother(Y,Z).
youngster(X) :- age(X,A), less_than(A,10).
less_than(A,B) :- A < B.
