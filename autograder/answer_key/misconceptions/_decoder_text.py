"""Wrong ways to write, each with the argument checks that the stub gives."""

import torch
from torch import nn

from ..reference_package import reference, reference_module
from . import misconception

TEXT = "decoder.generate"
right_chances = reference("decoder.next_token_probabilities")
given = reference_module("_decoder_arguments")


class Writing:
    """The given lines, then the loop in pieces that a subclass replaces."""

    def __call__(
        self, model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, end_id=None, generator=None
    ):
        given.check_prompt(prompt, max_new_tokens, end_id)
        given.check_sampling(temperature, top_k, top_p)
        self.settings, self.end_id, self.generator = (temperature, top_k, top_p), end_id, generator
        return self.around(model, prompt, max_new_tokens)

    def around(self, model, prompt, count):
        was = isinstance(model, nn.Module) and model.training
        if isinstance(model, nn.Module):
            model.eval()
        with torch.no_grad():
            found = self.write(model, prompt, count)
        if isinstance(model, nn.Module):
            model.train(was)
        return found

    def write(self, model, prompt, count):
        self.ended = torch.zeros(len(prompt), dtype=torch.bool)
        self.start, text = prompt.shape[1], prompt
        for _ in range(count):
            new = self.fill(self.draw(self.last(model, text)), text)
            text = torch.cat([text, new.unsqueeze(1).to(text.dtype)], dim=1)
            if self.end_id is not None and self.stop():
                break
        return text

    def last(self, model, text):
        return model(text)[:, -1]

    def draw(self, logits):
        chances = right_chances(logits, *self.settings)
        if self.settings[0] == 0:
            return chances.argmax(dim=-1)
        return torch.multinomial(chances, 1, generator=self.generator).squeeze(-1)

    def fill(self, new, text):
        if self.end_id is None:
            return new
        new = new.masked_fill(self.ended, self.end_id)
        self.ended = self.ended | (new == self.end_id)
        return new

    def stop(self):
        return self.ended.all()


def wrong_text(kind, like=""):
    def write(*arguments, **settings):
        return kind()(*arguments, **settings)

    write.__name__ = kind.__name__
    misconception(TEXT, like)(write)
    return kind


@wrong_text
class prompt_left_out(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, count)[:, prompt.shape[1] :]


@wrong_text
class last_token_alone_read(Writing):
    def last(self, model, text):
        return model(text[:, -1:])[:, -1]


@wrong_text
class logits_found_by_position(Writing):
    def last(self, model, text):
        return model(text)[:, text.shape[1] - 1]


@wrong_text
class first_logits_read(Writing):
    def last(self, model, text):
        return model(text)[:, 0]


@wrong_text
class prompt_alone_read(Writing):
    def last(self, model, text):
        return model(text[:, : self.start])[:, -1]


@wrong_text
class new_tokens_alone_read(Writing):
    def last(self, model, text):
        return model(text if text.shape[1] == self.start else text[:, self.start :])[:, -1]


@wrong_text
class one_token_too_many(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, count + 1)


@wrong_text
class length_in_all(Writing):
    """max_new_tokens taken for the length of prompt and text together."""

    def write(self, model, prompt, count):
        return super().write(model, prompt, max(count - prompt.shape[1], 0))


@wrong_text
class always_greedy(Writing):
    def draw(self, logits):
        return logits.argmax(dim=-1)


@wrong_text
class always_sampled(Writing):
    """Temperature 0 draws as temperature 1 does."""

    def draw(self, logits):
        chances = right_chances(logits, self.settings[0] or 1.0, *self.settings[1:])
        return torch.multinomial(chances, 1, generator=self.generator).squeeze(-1)


@wrong_text
class drawn_uniformly(Writing):
    """From what is left after the cuts, without the probabilities."""

    def draw(self, logits):
        if self.settings[0] == 0:
            return logits.argmax(dim=-1)
        left = (right_chances(logits, *self.settings) > 1e-6).float()
        return torch.multinomial(left, 1, generator=self.generator).squeeze(-1)


@wrong_text
class one_draw_for_all_rows(Writing):
    def draw(self, logits):
        if self.settings[0] == 0:
            return super().draw(logits)
        chances = right_chances(logits, *self.settings)
        level = torch.rand(1, generator=self.generator, dtype=chances.dtype)
        return (chances.cumsum(dim=-1) < level).sum(dim=-1).clamp(max=chances.shape[-1] - 1)


@wrong_text
class first_row_for_all(Writing):
    """.item(): the first row's token is appended to all rows."""

    def draw(self, logits):
        return super().draw(logits[:1]).expand(len(logits))


@wrong_text
class temperature_not_passed_on(Writing):
    def draw(self, logits):
        temperature, *cuts = self.settings
        self.settings = (temperature and 1.0, *cuts)
        return super().draw(logits)


@wrong_text
class cuts_not_passed_on(Writing):
    def draw(self, logits):
        self.settings = (self.settings[0], None, None)
        return super().draw(logits)


@wrong_text
class generator_ignored(Writing):
    def draw(self, logits):
        self.generator = None
        return super().draw(logits)


@wrong_text
class rows_go_on_after_the_end(Writing):
    def fill(self, new, text):
        self.ended = self.ended | (new == self.end_id)
        return new


@wrong_text
class stops_with_the_first(Writing):
    def stop(self):
        return self.ended.any()


@wrong_text
class never_stops(Writing):
    def stop(self):
        return False


@wrong_text
class end_ignored(Writing):
    def fill(self, new, text):
        return new

    def stop(self):
        return False


@wrong_text
class end_left_out(Writing):
    """Stops before the last end_id is appended."""

    def write(self, model, prompt, count):
        text = super().write(model, prompt, count)
        return text[:, :-1] if self.end_id is not None and self.ended.all() else text


@wrong_text
class padded_with_zero(Writing):
    def fill(self, new, text):
        if self.end_id is None:
            return new
        new = new.masked_fill(self.ended, 0)
        self.ended = self.ended | (new == self.end_id)
        return new


@wrong_text
class end_in_the_prompt_counted(Writing):
    def fill(self, new, text):
        if self.end_id is not None:
            self.ended = self.ended | (text == self.end_id).any(dim=1)
        return super().fill(new, text)


@wrong_text
class training_mode_kept(Writing):
    def around(self, model, prompt, count):
        with torch.no_grad():
            return self.write(model, prompt, count)


@wrong_text
class left_in_evaluation(Writing):
    def around(self, model, prompt, count):
        if isinstance(model, nn.Module):
            model.eval()
        with torch.no_grad():
            return self.write(model, prompt, count)


@wrong_text
class left_in_training(Writing):
    def around(self, model, prompt, count):
        found = super().around(model, prompt, count)
        if isinstance(model, nn.Module):
            model.train()
        return found


@wrong_text
class module_expected(Writing):
    def around(self, model, prompt, count):
        was = model.training
        model.eval()
        with torch.no_grad():
            found = self.write(model, prompt, count)
        model.train(was)
        return found


@wrong_text
class gradients_recorded(Writing):
    def around(self, model, prompt, count):
        was = isinstance(model, nn.Module) and model.training
        if isinstance(model, nn.Module):
            model.eval()
        found = self.write(model, prompt, count)
        if isinstance(model, nn.Module):
            model.train(was)
        return found


@wrong_text
class a_token_is_always_written(Writing):
    """The loop asks at its end whether it is done."""

    def write(self, model, prompt, count):
        return super().write(model, prompt, max(count, 1))
