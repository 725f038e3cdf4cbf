parent(ann,bob). parent(bob,cid). parent(bob,dot). parent(ann,eve). parent(eve,fay). parent(gus,bob). parent(hal,eve).
female(ann). female(dot). female(eve). female(fay). male(bob). male(cid). male(gus). male(hal).
