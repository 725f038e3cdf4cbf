# Lets Accrete act in an environment of Gymnasium's interface: reset(seed=…) answers
# (observation, info), step(action) (observation, reward, terminated, truncated, info).
#   accrete learn 'exec:python3 gym_adapter.py CartPole-v1' --set values=tiles
#   accrete learn 'exec:python3 gym_adapter.py mine:Corridor'      a class of mine.py
import importlib, json, os, sys

sys.path.insert(0, os.getcwd())
module, _, name = sys.argv[1].partition(":")
if name:
    env = getattr(importlib.import_module(module), name)()
else:
    env = importlib.import_module("gymnasium").make(module)
space, first = env.action_space, int(getattr(env.action_space, "start", 0))
if not hasattr(space, "n"):
    sys.exit(f"its actions are {space}; expected so many of them, as in Discrete(n)")

def columns(seen, name="state"):
    if isinstance(seen, dict):
        return {k: v for key in seen for k, v in columns(seen[key], key).items()}
    seen = seen.tolist() if hasattr(seen, "tolist") else seen
    if isinstance(seen, (list, tuple)):
        return {k: v for i, x in enumerate(seen) for k, v in columns(x, f"{name}{i + 1}").items()}
    return {name: seen}

def say(seen, info, **more):
    mask = info.get("action_mask", [1] * int(space.n))
    legal = [str(first + a) for a, may in enumerate(mask) if may]
    print(json.dumps({"state": columns(seen), "actions": legal, **more}), flush=True)

for line in sys.stdin:
    told = json.loads(line)
    if "reset" in told:
        say(*env.reset(seed=told["reset"] % 2**31))
        continue
    seen, reward, terminated, truncated, info = env.step(int(told["action"]))
    say(seen, info, reward=float(reward), end=bool(terminated or truncated), cut=bool(truncated and not terminated))
