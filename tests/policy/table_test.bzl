"""The table against the rules, and as text."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

# What the table is about is no rule of its own.
# buildifier: disable=bzl-visibility
load("//rules/private:policy.bzl", "POLICIES", "admits", "stricter")

# buildifier: disable=bzl-visibility
load("//rules/private:ptx_archs.bzl", "image_kinds")
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

# (policy, archs, ptx_archs): the images.
_IMAGES = [
    ("forbid", ["sm_80", "gfx90a"], [], ["sm_80 cubin", "gfx90a gfx"]),
    # What a flag makes of a target that embeds.
    ("forbid", ["sm_80"], ["sm_75"], ["sm_80 cubin"]),
    ("embed", ["sm_90", "sm_80", "sm_100a", "gfx90a"], [], ["sm_90 cubin", "sm_90 ptx", "sm_80 cubin", "sm_100a cubin", "gfx90a gfx"]),
    ("embed", ["sm_90a"], [], ["sm_90a cubin", "sm_90a ptx"]),
    ("embed", ["sm_80"], ["sm_75"], ["sm_80 cubin", "sm_75 ptx"]),
    ("embed", ["gfx90a"], ["sm_75"], ["gfx90a gfx", "sm_75 ptx"]),
    ("embed", ["sm_80", "sm_90"], ["sm_80", "sm_90"], ["sm_80 cubin", "sm_80 ptx", "sm_90 cubin", "sm_90 ptx"]),
    ("only", ["sm_80", "sm_90", "gfx90a"], [], ["sm_80 ptx", "sm_90 ptx", "gfx90a gfx"]),
    ("only", ["sm_80", "sm_90"], ["sm_80"], ["sm_80 ptx"]),
]

def _images_test_impl(ctx):
    env = unittest.begin(ctx)
    for policy, archs, ptx_archs, wanted in _IMAGES:
        found = [
            arch + " " + kind
            for arch in archs + [arch for arch in ptx_archs if arch not in archs]
            for kind in image_kinds(policy, arch, archs, ptx_archs)
        ]
        asserts.equals(env, wanted, found, "ptx = %s, archs = %s, ptx_archs = %s" % (policy, archs, ptx_archs))
    return unittest.end(env)

images_test = unittest.make(_images_test_impl)

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
