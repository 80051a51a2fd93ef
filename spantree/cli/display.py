"""Display: what a verb that runs a program shows before, during and after it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import LimitsError, RunCancelled, UserError
from runtime.frames import RunState
from spantree.cli.exits import Interrupted, then
from spantree.cli.output import page_width, print_json, print_page, standard_error, standard_output
from spantree.cli.page import Page
from spantree.cli.progress import Admission, watcher
from spantree.cli.render import render_answer
from spantree.cli.settings import DEFAULT_MODEL, Settings
from spantree.cli.stack import add_stack, stack_page
from spantree.cli.store import resume_command

if TYPE_CHECKING:
    from programs.answer import Answer
    from runtime.journal import Journal

_BANNER = (
    "model: extractive, the embedded lexical reader; not a language model (choose one: --model)"
)


def say_banner(settings: Settings, *, quiet: bool) -> None:
    """Say so on standard error, unless quiet, when what answers is no language model."""
    if DEFAULT_MODEL in (settings.model, settings.leaf_model) and not quiet:
        print(_BANNER, file=sys.stderr)


@dataclass(frozen=True, slots=True)
class Display:
    """How a run is shown, as chosen by options."""

    store: Path | None
    json: bool
    quiet: bool
    show_stack: bool

    def banner(self, settings: Settings) -> None:
        """Say so when what answers is no language model."""
        say_banner(settings, quiet=self.quiet)

    def say(self, line: str) -> None:
        """A line on standard error, unless quiet."""
        if not self.quiet:
            print(line, file=sys.stderr)

    def so_far(self, state: RunState) -> None:
        """The stack of a run before it goes on."""
        if not self.quiet:
            console = standard_error()
            page = Page(page_width(console))
            add_stack(page, state)
            print_page(page, console)

    @contextmanager
    def watching(self) -> Iterator[Admission]:
        """Progress on standard error, gone when the block ends."""
        with watcher(sys.stderr, quiet=self.quiet) as inner:
            yield Admission(inner)

    @contextmanager
    def resumable(self, admission: Admission) -> Iterator[None]:
        """Name the command that resumes the run when the block is interrupted, or stopped by a mistake."""
        try:
            yield
        except (KeyboardInterrupt, RunCancelled) as interrupt:
            if not admission.run_id:
                raise
            raise Interrupted(resume_command(admission.run_id, self.store)) from interrupt
        except LimitsError:
            raise  # the same limits would stop it again
        except UserError as error:
            if admission.run_id:
                then(error, resume_command(admission.run_id, self.store))
            raise

    def finish(self, answer: "Answer", journal: "Journal") -> None:
        """Print the answer, and the stack if it was asked for."""
        if self.show_stack:
            console = standard_error()
            print_page(stack_page(journal, answer.run_id, page_width(console)), console)
        if self.json:
            print_json(answer.to_json())
        else:
            console = standard_output()
            print_page(render_answer(answer, page_width(console)), console)
