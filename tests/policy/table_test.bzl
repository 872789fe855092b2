"""The table against the rules, and as text."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

# What the table is about is no rule of its own.
# buildifier: disable=bzl-visibility
load("//rules/private:policy.bzl", "POLICIES", "admits", "stricter")
load(":table.bzl", "TABLE")

def _table_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, sorted([(own, floor) for own in POLICIES for floor in POLICIES]), sorted(TABLE.keys()))
    for (own, floor), result in TABLE.items():
        policy = stricter(own, floor)
        found = (policy, [kind for kind in ["cubin", "ptx"] if admits(policy, kind)]) if policy else None
        asserts.equals(env, result, found, "ptx = %s under %s" % (own, floor))
        asserts.true(env, not policy or admits(policy, "gfx"))
    return unittest.end(env)

table_test = unittest.make(_table_test_impl)

def _row(own, floor, result):
    if not result:
        return "| `%s` | `%s` | fails in analysis, and names both | |" % (own, floor)
    policy, kinds = result
    return "| `%s` | `%s` | `%s` | %s |" % (own, floor, policy, ", ".join(kinds))

def _page_impl(ctx):
    rows = [_row(own, floor, result) for (own, floor), result in TABLE.items()]
    ctx.actions.expand_template(
        template = ctx.file.template,
        output = ctx.outputs.out,
        substitutions = {"{TABLE}": "\n".join(rows)},
    )

page = rule(
    implementation = _page_impl,
    doc = "A page with the table in it.",
    attrs = {
        "out": attr.output(mandatory = True),
        "template": attr.label(mandatory = True, allow_single_file = True),
    },
)
