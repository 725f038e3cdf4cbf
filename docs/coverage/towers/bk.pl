table(a). on(b,a). on(c,b). on(d,c). flat(a). flat(b). flat(c). on(f,e). on(e,d). red(a). red(c).
