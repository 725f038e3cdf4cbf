neg(grandmother(gus,cid)). pos(grandmother(ann,fay)). neg(grandmother(bob,ann)).
