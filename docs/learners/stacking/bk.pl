on(obj1,obj2).
type(obj1,box). type(obj2,endtable). type(obj3,lamp).
color(obj1,red). color(obj2,blue).
volume(obj1,2). density(obj1,0.3).
owner(obj1,fred). owner(obj2,louise).
material(obj1,cardboard). material(obj2,wood). material(obj3,glass).
