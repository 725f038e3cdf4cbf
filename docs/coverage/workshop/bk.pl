% Parts in a workshop: turning takes polish and paint off, polishing takes paint off.
operator(clamp(X,M), [part(X), loose(X), machine(M), free(M)], [held(X,M)], [loose(X), free(M)]).
operator(release(X,M), [held(X,M)], [loose(X), free(M)], [held(X,M)]).
operator(turn(X), [held(X,lathe)], [round(X)], [polished(X), painted(X)]).
operator(punch(X), [held(X,press)], [holed(X)], [polished(X)]).
operator(polish(X), [part(X), loose(X)], [polished(X)], [painted(X)]).
operator(paint(X), [part(X), loose(X)], [painted(X)], []).
