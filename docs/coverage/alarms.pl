alarm :- high(X).
high(X) :- on(X,Y), on(Y,Z).
