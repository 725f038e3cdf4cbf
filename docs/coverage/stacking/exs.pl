pos(safe_to_stack(obj1,obj2)).
neg(safe_to_stack(obj2,obj1)).
pos(safe_to_stack(obj3,obj2)).
