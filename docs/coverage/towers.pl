% A block stands firmly on the table, or on one that does.
firm(X) :- table(X).
firm(X) :- on(X,Y), flat(Y), firm(Y).
