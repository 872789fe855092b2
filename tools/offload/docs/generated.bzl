"""Text that is made from the command line itself."""

def _generated_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add(ctx.attr.what)
    args.add_all([folder], expand_directories = False)
    ctx.actions.run(
        executable = ctx.executable._generator,
        arguments = [args],
        outputs = [folder],
        mnemonic = "OffloadDocs",
        progress_message = "Writing %{label}",
        toolchain = None,
    )
    return DefaultInfo(files = depset([folder]))

generated = rule(
    implementation = _generated_impl,
    doc = "A folder of pages for `man`, or of completions for bash, zsh and fish.",
    attrs = {
        "what": attr.string(
            doc = "Which of the two.",
            mandatory = True,
            values = ["man", "completions"],
        ),
        "_generator": attr.label(
            default = Label("//tools/offload/docs"),
            cfg = "exec",
            executable = True,
        ),
    },
)
