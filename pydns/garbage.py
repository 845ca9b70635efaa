"""When the garbage collector runs: not during the start, and then only over what came after it.

Rules:

1. A process starts with `put_off`: nearly all that is made until it serves stays, so there is nothing to look for.
2. When a configuration serves, `set_apart` has the collector pass over all that there is: it lives as long as the
   configuration.  Else it would look at modules and cluster again and again, and hold up every query meanwhile.
3. It looks at new objects less often than Python's default: each query in flight would pay a tenth of its time.
4. A start leaves next to no garbage; a reload leaves the configuration before, which is collected first.

It imports nothing of this package.
"""

import gc

THRESHOLD = 10_000
"""Objects that may be made, less those that went, until the collector looks at them."""


def put_off() -> None:
    """Collect nothing until `set_apart`."""
    gc.disable()


def set_apart() -> None:
    """Collect from now on, but pass over what there is (rules 2 to 4)."""
    if gc.isenabled():
        gc.unfreeze()
        gc.collect()
    gc.enable()
    gc.freeze()
    gc.set_threshold(THRESHOLD, 10, 10)
