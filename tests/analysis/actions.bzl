"""What the analysis tests ask of registered actions."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

_LinkedInfo = provider(
    doc = "What makes the images of a target.",
    fields = {"actions": "list of Action: the target's own, and those of what it leads to on the platform of a GPU"},
)

def _linked_aspect_impl(target, ctx):
    images = getattr(ctx.rule.attr, "image", [])
    return [_LinkedInfo(actions = target.actions + [action for image in images for action in image[_LinkedInfo].actions])]

# For a test of one architecture's images: the target that the user names registers no action itself.
linked_aspect = aspect(
    implementation = _linked_aspect_impl,
    attr_aspects = ["image"],
)

def actions(env):
    """The actions of the target under test, and behind it where the test has `linked_aspect`."""
    target = analysistest.target_under_test(env)
    return target[_LinkedInfo].actions if _LinkedInfo in target else analysistest.target_actions(env)

def with_mnemonic(env, mnemonic):
    """Of these actions those that have this mnemonic."""
    return [action for action in actions(env) if action.mnemonic == mnemonic]

def the_action(env, mnemonic):
    """The only action with this mnemonic."""
    found = with_mnemonic(env, mnemonic)
    asserts.equals(env, 1, len(found), mnemonic)
    return found[0]

def has(env, action, *options):
    for option in options:
        asserts.true(env, option in action.argv, "%s has no %s: %s" % (action.mnemonic, option, action.argv))

def has_prefix(env, action, *prefixes):
    for prefix in prefixes:
        asserts.true(
            env,
            [arg for arg in action.argv if arg.startswith(prefix)],
            "%s has nothing with %s: %s" % (action.mnemonic, prefix, action.argv),
        )

def lacks(env, action, *texts):
    """No argument contains any of these texts."""
    for text in texts:
        asserts.equals(env, [], [arg for arg in action.argv if text in arg], "%s has %s" % (action.mnemonic, text))

def inputs_ending(action, suffix):
    return [file.path for file in action.inputs.to_list() if file.path.endswith(suffix)]

def is_hermetic(env, action):
    """Neither the caller's environment nor a path of the machine gets into the action.

    Args:
      env: of the test.
      action: what is judged.
    """
    asserts.false(env, "PATH" in action.env, "%s has a PATH: %s" % (action.mnemonic, action.env))
    for arg in action.argv:
        # A label is no path.
        if arg.startswith(("--label=//", "//")):
            continue
        asserts.false(
            env,
            arg.startswith(("/", "-L/", "-I/")) or "=/" in arg or ",/" in arg,
            "%s has an absolute path: %s" % (action.mnemonic, arg),
        )
