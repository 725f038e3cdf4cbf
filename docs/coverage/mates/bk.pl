person(joe). person(sue). sex(joe,male). sex(sue,female). hair_color(joe,black). hair_color(sue,brown).
height(joe,short). height(sue,short). nationality(joe,us). nationality(sue,us). mother(joe,mary). mother(sue,mary).
age(joe,8). age(sue,6).
