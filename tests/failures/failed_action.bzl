"""`failed_action`: runs one action of a target that fails by design, and keeps what it said."""

_ActionsInfo = provider(
    doc = "The actions of a target, and of the image and the crate behind it.",
    fields = {"actions": "list of struct (label: Label, action: Action)"},
)

_ATTRS = ["crate", "image"]

def _actions_aspect_impl(target, ctx):
    actions = [struct(label = target.label, action = action) for action in target.actions]
    for name in _ATTRS:
        value = getattr(ctx.rule.attr, name, None) or []
        for dep in value if type(value) == type([]) else [value]:
            if _ActionsInfo in dep:
                actions.extend(dep[_ActionsInfo].actions)
    return [_ActionsInfo(actions = actions)]

_actions_aspect = aspect(
    implementation = _actions_aspect_impl,
    attr_aspects = _ATTRS,
)

def _label(target):
    return Label(target)

def _failed_action_impl(ctx):
    found = [found for found in ctx.attr._target[_ActionsInfo].actions if found.action.mnemonic == ctx.attr.mnemonic]
    if len(found) != 1:
        fail("wanted one action %s, found %d" % (ctx.attr.mnemonic, len(found)))
    action = found[0].action
    report = ctx.actions.declare_file(ctx.label.name + ".txt")
    args = ctx.actions.args()
    args.add(report)
    args.add("target: //%s:%s" % (found[0].label.package, found[0].label.name))
    args.add_all({file.dirname: None for file in action.outputs.to_list()}.keys())
    args.add("--")
    args.add_all(action.argv)
    ctx.actions.run(
        executable = ctx.executable._run_to_failure,
        arguments = [args],
        inputs = action.inputs,
        outputs = [report],
        env = action.env,
        mnemonic = "FailedAction",
        progress_message = "Running %s of %s, which should fail" % (ctx.attr.mnemonic, found[0].label),
    )
    return [DefaultInfo(files = depset([report]))]

failed_action = rule(
    implementation = _failed_action_impl,
    doc = """Runs an action again, as it is registered; its output is a report of its exit code and messages.

The target itself is not built, nor does it validate itself: validations of implicit dependencies do
not reach the top, so its name is given as a string and the attribute behind it is a private one.""",
    attrs = {
        "mnemonic": attr.string(mandatory = True, doc = "Which action."),
        "target": attr.string(mandatory = True, doc = "Label of a target, tagged `manual`."),
        "_run_to_failure": attr.label(default = "//tests/failures:run_to_failure", executable = True, cfg = "exec"),
        "_target": attr.label(default = _label, aspects = [_actions_aspect]),
    },
)
