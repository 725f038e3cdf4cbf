% What may be lifted: light things that are sound. That they are is taken for granted until it is wrong.
lift(X) :- light(X), sound(X).
light(X) :- weight(X,W), W < 5.
sound(X) :- handle(X,H), firm(H).
