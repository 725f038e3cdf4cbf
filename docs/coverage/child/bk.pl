% Who is whose father or mother; a parent is either.
father(sharon,bob). father(tom,bob). father(ann,carl). mother(ann,eve). mother(bea,eve). mother(dan,sharon).
parent(X,Y) :- father(X,Y).
parent(X,Y) :- mother(X,Y).
male(bob). male(tom). male(carl). male(dan). female(sharon). female(ann). female(eve). female(bea).
