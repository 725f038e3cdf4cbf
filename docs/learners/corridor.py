# A corridor of seven places, spoken in lines of JSON: the way out is at the right
# end, the floor is slippery, and each step costs one. An environment of Gymnasium
# looks the same: state from its observation, end from terminated or truncated.
import json, random, sys

place, chance = 3, random.Random()

def say(**what):
    print(json.dumps(what), flush=True)

for line in sys.stdin:
    told = json.loads(line)
    if "reset" in told:
        chance.seed(told["reset"])
        place = chance.randrange(6)
        say(state={"place": place}, actions=["left", "right"])
        continue
    step = 1 if told["action"] == "right" else -1
    if chance.random() < 0.2:
        step = -step
    place = min(max(place + step, 0), 6)
    say(state={"place": place}, actions=["left", "right"],
        reward=10 if place == 6 else -1, end=place == 6)
