"""Unit tests of `//toolchains:archs.bzl`."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//toolchains:archs.bzl", "ARCHS", "all_targets", "nearest_arch", "parse_arch")

def _accepted(env, arch, name, features, target_id):
    parsed, error = parse_arch(arch)
    asserts.equals(env, None, error)
    asserts.equals(env, name, parsed.name)
    asserts.equals(env, features, parsed.features)
    asserts.equals(env, target_id, parsed.target_id)
    asserts.equals(env, ARCHS[name.split(":")[0]], parsed.row)

def _refused(env, arch, *texts):
    parsed, error = parse_arch(arch)
    asserts.equals(env, None, parsed, "parsed '%s'" % arch)
    for text in texts:
        asserts.true(env, text in (error or ""), "'%s' is not in the message for '%s': %s" % (text, arch, error))

def _accepts_impl(ctx):
    env = unittest.begin(ctx)
    _accepted(env, "sm_90", "sm_90", {}, "sm_90")
    _accepted(env, "sm_90a", "sm_90a", {}, "sm_90a")
    _accepted(env, "sm_120f", "sm_120f", {}, "sm_120f")
    _accepted(env, "gfx1100", "gfx1100", {}, "gfx1100")
    _accepted(env, "gfx9-4-generic", "gfx9-4-generic", {}, "gfx9-4-generic")
    _accepted(env, "gfx90a:xnack+", "gfx90a:xnack+", {"xnack": "on"}, "gfx90a_xnack_on")
    _accepted(env, "gfx1010:xnack-", "gfx1010:xnack-", {"xnack": "off"}, "gfx1010_xnack_off")
    return unittest.end(env)

def _canonical_order_impl(ctx):
    env = unittest.begin(ctx)
    canonical = "gfx90a:sramecc+:xnack-"
    target_id = "gfx90a_sramecc_on_xnack_off"
    features = {"sramecc": "on", "xnack": "off"}
    for spelling in [canonical, "gfx90a:xnack-:sramecc+"]:
        _accepted(env, spelling, canonical, features, target_id)
        asserts.equals(env, ["sramecc", "xnack"], parse_arch(spelling)[0].features.keys())
    return unittest.end(env)

def _unknown_names_impl(ctx):
    env = unittest.begin(ctx)
    _refused(env, "sm_91", "'sm_91' is not a GPU architecture", "did you mean 'sm_90'?", "gfx1100")
    _refused(env, "sm90", "did you mean 'sm_90'?")
    _refused(env, "compute_90", "did you mean 'sm_90'?")
    _refused(env, "sm_95", "did you mean 'sm_90'?")
    _refused(env, "SM_90", "did you mean 'sm_90'?")
    _refused(env, "GFX90A", "did you mean 'gfx90a'?")
    _refused(env, "sm_80a", "did you mean 'sm_80'?")
    _refused(env, "gfx90ab", "did you mean 'gfx90a'?")
    _refused(env, "gfx1100 ", "did you mean 'gfx1100'?")
    _refused(env, "gfx11_generic", "did you mean 'gfx11-generic'?")
    _refused(env, "", "did you mean")
    asserts.equals(env, "gfx942", nearest_arch("gfx9420"))
    return unittest.end(env)

def _features_impl(ctx):
    env = unittest.begin(ctx)
    _refused(env, "gfx90a:xnak+", "'xnak+'", "gfx90a", "xnack+ or xnack-", "sramecc+ or sramecc-")
    _refused(env, "gfx90a:xnack", "'xnack' in 'gfx90a:xnack'")
    _refused(env, "gfx90a:", "'' in 'gfx90a:'")
    _refused(env, "gfx90a:xnack*", "'xnack*'")
    _refused(env, "gfx900:sramecc+", "not a feature of gfx900", "xnack+ or xnack-")
    _refused(env, "gfx1100:xnack+", "not a feature of gfx1100", "it has none")
    _refused(env, "sm_90:xnack+", "not a feature of sm_90", "it has none")
    _refused(env, "gfx90a:xnack+:xnack+", "'gfx90a:xnack+:xnack+' names the feature xnack twice")
    _refused(env, "gfx90a:xnack+:xnack-", "names the feature xnack twice")
    return unittest.end(env)

def _all_targets_impl(ctx):
    env = unittest.begin(ctx)
    targets = all_targets()
    names = [target.name for target in targets]

    # No, one, and two features, each absent, on or off.
    asserts.equals(env, len(targets), len({target.target_id: None for target in targets}), "target_ids are unique")
    for row in ARCHS.values():
        of_row = [name for name in names if name.split(":")[0] == row.name]
        asserts.equals(env, {0: 1, 1: 3, 2: 9}[len(row.features)], len(of_row), row.name)
    for name in ["sm_100a", "gfx1201", "gfx90a", "gfx90a:sramecc-:xnack+", "gfx9-generic:xnack-"]:
        asserts.true(env, name in names, name)
    for target in targets:
        asserts.equals(env, target, parse_arch(target.name)[0])
    return unittest.end(env)

def _table_impl(ctx):
    env = unittest.begin(ctx)
    for name, row in ARCHS.items():
        asserts.equals(env, name, row.name)
        asserts.equals(env, row.vendor == "nvidia", row.sm != None, name)
        for served in row.generic_for:
            asserts.true(env, served in ARCHS, "%s serves %s" % (name, served))
            for feature in row.features:
                asserts.true(env, feature in ARCHS[served].features or feature == "xnack", "%s of %s" % (feature, served))
    return unittest.end(env)

_accepts_test = unittest.make(_accepts_impl)
_canonical_order_test = unittest.make(_canonical_order_impl)
_unknown_names_test = unittest.make(_unknown_names_impl)
_features_test = unittest.make(_features_impl)
_all_targets_test = unittest.make(_all_targets_impl)
_table_test = unittest.make(_table_impl)

def archs_test_suite(name):
    """Declares the tests.

    Args:
      name: of the suite, and before each test's own.
    """
    tests = {
        "accepts": _accepts_test,
        "all_targets": _all_targets_test,
        "canonical_order": _canonical_order_test,
        "features": _features_test,
        "table": _table_test,
        "unknown_names": _unknown_names_test,
    }
    for test, rule in tests.items():
        rule(name = "%s_%s_test" % (name, test), size = "small")
    native.test_suite(
        name = name,
        tests = [":%s_%s_test" % (name, test) for test in tests],
    )
