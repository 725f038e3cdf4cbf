pos(grandmother(ann,cid)).
neg(grandmother(ann,bob)).
