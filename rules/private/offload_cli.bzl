"""The `offload` command line, as actions call it."""

load(":labels.bzl", "display")

OFFLOAD_CLI = {
    "_offload": attr.label(
        default = Label("//tools/offload"),
        executable = True,
        cfg = "exec",
    ),
}

def run_offload(ctx, command, label, output, inputs = [], arguments = [], message = "", arch = None):
    """Registers one call of the tool, which writes one file.

    Args:
      ctx: the rule's context; its attributes include OFFLOAD_CLI.
      command: the sub-command.
      label: Label of the target to name in messages.
      output: File that the call writes.
      inputs: Files that it reads.
      arguments: list of Args, after the common ones.
      message: what it does, for people; the target is added.
      arch: the GPU architecture, where there is one.
    """
    args = ctx.actions.args()
    args.add(command)
    args.add("--label=" + display(label))
    args.add(output, format = "--output=%s")
    for each in arguments:
        # A library may pack more images than a command line is long.
        each.use_param_file("@%s")
        each.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._offload,
        arguments = [args] + arguments,
        inputs = inputs,
        outputs = [output],
        mnemonic = "Offload" + command.capitalize(),
        # Every path is a File: where outputs of several configurations are told by their contents alone, so are these.
        execution_requirements = {"supports-path-mapping": "1"},
        # The tool is an attribute, of no toolchain.
        toolchain = None,
        progress_message = "%s of %s%s" % (message, display(label), " for " + arch if arch else ""),
    )
