%% a list without the first of its elements that is the one; recursive
enable_recursion.
head_pred(delete,3).
body_pred(head,2). body_pred(tail,2). body_pred(empty,1). body_pred(cons,3).
type(delete,(element,list,list)). direction(delete,(in,in,out)).
type(head,(list,element)). type(tail,(list,list)). type(empty,(list,)). type(cons,(element,list,list)).
direction(head,(in,out)). direction(tail,(in,out)). direction(empty,(in,)). direction(cons,(in,in,out)).
