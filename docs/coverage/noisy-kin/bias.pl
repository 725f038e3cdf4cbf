%% X is an ancestor of Y; recursive, and one example is wrong
enable_recursion.
head_pred(ancestor,2).
body_pred(parent,2).
type(ancestor,(person,person)).
type(parent,(person,person)).
