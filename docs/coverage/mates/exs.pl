pos(house_mates(joe,sue)).
neg(house_mates(joe,mary)).
