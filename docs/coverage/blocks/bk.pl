% Blocks on a table, moved one by one: operator(Name, [requires], [adds], [deletes]).
operator(move(X,Y,Z), [on(X,Y), clear(X), clear(Z), X \= Z], [on(X,Z), clear(Y)], [on(X,Y), clear(Z)]).
operator(unstack(X,Y), [on(X,Y), clear(X)], [table(X), clear(Y)], [on(X,Y)]).
operator(stack(X,Z), [table(X), clear(X), clear(Z), X \= Z], [on(X,Z)], [table(X), clear(Z)]).
