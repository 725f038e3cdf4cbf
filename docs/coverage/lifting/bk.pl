weight(cup,1). handle(cup,h1). firm(h1). weight(jug,3). handle(jug,h2). firm(h2). weight(vase,2). handle(vase,h3). cracked(h3). weight(urn,9). red(cup).
