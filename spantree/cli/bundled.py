"""Bundled settings: what a bundle says about its program, as settings of the command line."""

from dataclasses import replace
from typing import TYPE_CHECKING

from runtime.errors import UserError
from spantree.cli.flags import FLAGS, OPTIONS, parameter
from spantree.cli.settings import Settings

if TYPE_CHECKING:
    import typer

BUNDLE = "bundle:"
"""Before the folder of a bundle, where the name of a program may stand."""


def bundled(name: str, common: Settings) -> tuple[Settings, str]:
    """The settings of a bundle under the models and limits that are common to all, and its id. Raises BundleError."""
    from programs.bundles import read_bundle

    bundle = read_bundle(name)
    facts = bundle.facts
    settings = replace(
        common,
        program=facts.program,
        partitioner=facts.partitioner,
        bundle=str(bundle.folder),
        **{option: facts.options.get(option) for option in OPTIONS},
    )
    return settings, bundle.id


def with_bundle(name: str, chosen: Settings, context: "typer.Context") -> Settings:
    """The settings of a bundle: its models, unless others were given, and its limits, narrowed by those given.

    Raises UserError for an option that was given and contradicts the bundle.
    """
    from programs.bundles import read_bundle

    facts = read_bundle(name).facts
    given = {each for each in context.params if _is_given(each, context)}
    if "program" in given and chosen.program != facts.program:
        raise UserError(
            f"the bundle is of the program {facts.program}, and --program names {chosen.program}",
            hint="leave --program out",
        )
    useless = [
        flag for name, flag in {**OPTIONS, "partition": "--partition"}.items() if name in given
    ]
    if useless:
        raise UserError(
            f"{useless[0]} has no use with --bundle: the bundle says how its program is made",
            hint="leave it out, or name the program in place of the bundle",
        )
    main = chosen.model if "model" in given or facts.lm is None else facts.lm.name
    leaf = facts.leaf_lm.name if facts.leaf_lm and "model" not in given else main
    caps = {
        limit: getattr(chosen.limits, limit)
        for limit, flag in FLAGS.items()
        if parameter(flag) in given
    }
    common = replace(
        chosen,
        model=main,
        leaf_model=chosen.leaf_model if "leaf_model" in given else leaf,
        limits=facts.limits.narrowed(**caps),
    )
    return bundled(name, common)[0]


def with_bundles(programs: str, bundles: str | None, context: "typer.Context") -> str:
    """Programs and bundles as one list of names; the program that nobody asked for is left out."""
    if bundles is None:
        return programs
    named = [programs] if _is_given("program", context) else []
    return ",".join([*named, *(f"{BUNDLE}{each.strip()}" for each in bundles.split(","))])


def _is_given(name: str, context: "typer.Context") -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")
