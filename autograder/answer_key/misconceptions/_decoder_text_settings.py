"""Wrong ways to write: what is chosen, what is passed on, how a row ends, what comes back."""

import torch

from ._decoder_text import Writing, right_chances, wrong_text


@wrong_text
class least_probable_chosen(Writing):
    def draw(self, logits):
        return logits.argmin(dim=-1) if self.settings[0] == 0 else super().draw(logits)


@wrong_text
class one_token_too_few(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, max(count - 1, 0))


@wrong_text
class new_tokens_in_front(Writing):
    def write(self, model, prompt, count):
        text = super().write(model, prompt, count)
        return torch.cat([text[:, prompt.shape[1] :].flip(1), prompt], dim=1)


@wrong_text
class joined_along_the_batch(Writing):
    def write(self, model, prompt, count):
        for _ in range(count):
            new = self.fill(self.draw(self.last(model, prompt)), prompt)
            prompt = torch.cat([prompt, new.unsqueeze(1)], dim=0)
        return prompt

    def fill(self, new, text):
        return new


@wrong_text
class several_rows_not_expected(Writing):
    """.item(): one number is asked of several rows."""

    def draw(self, logits):
        return torch.tensor([super().draw(logits).item()])


@wrong_text
class ids_as_floats(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, count).float()


@wrong_text
class ids_in_int32(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, count).int()


@wrong_text
class ids_in_a_list(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt, count).tolist()


@wrong_text
class stops_with_the_first_row(Writing):
    def stop(self):
        return self.ended[0]


@wrong_text
class filled_with_minus_one(Writing):
    def fill(self, new, text):
        if self.end_id is None:
            return new
        new = new.masked_fill(self.ended, -1)
        self.ended = self.ended | (new == self.end_id)
        return new


@wrong_text
class end_zero_taken_for_none(Writing):
    """if end_id: 0 is an id too."""

    def fill(self, new, text):
        return super().fill(new, text) if self.end_id else new


@wrong_text
class temperature_multiplied(Writing):
    def draw(self, logits):
        temperature, *cuts = self.settings
        if temperature == 0:
            return logits.argmax(dim=-1)
        return torch.multinomial(right_chances(logits * temperature, 1.0, *cuts), 1, generator=self.generator)[:, 0]


@wrong_text
class temperature_twice(Writing):
    def draw(self, logits):
        return super().draw(logits / (self.settings[0] or 1.0))


@wrong_text
class top_k_not_passed_on(Writing):
    def draw(self, logits):
        self.settings = (self.settings[0], None, self.settings[2])
        return super().draw(logits)


@wrong_text
class top_p_not_passed_on(Writing):
    def draw(self, logits):
        self.settings = (*self.settings[:2], None)
        return super().draw(logits)


@wrong_text
class no_setting_passed_on(Writing):
    def draw(self, logits):
        self.settings = (self.settings[0] and 1.0, None, None)
        return super().draw(logits)


@wrong_text
class generator_of_its_own(Writing):
    def draw(self, logits):
        self.generator = torch.Generator().manual_seed(0)
        return super().draw(logits)


@wrong_text
class buffer_read_whole(Writing):
    """Room for all tokens is made at the beginning, and the model gets it as it is, zeros included."""

    def write(self, model, prompt, count):
        self.ended = torch.zeros(len(prompt), dtype=torch.bool)
        text = torch.cat([prompt, prompt.new_zeros(len(prompt), count)], dim=1)
        for place in range(prompt.shape[1], text.shape[1]):
            text[:, place] = self.fill(self.draw(self.last(model, text)), text)
            if self.end_id is not None and self.stop():
                return text[:, : place + 1]
        return text


class read_in_front_too(Writing):
    """The model is asked for the last place of a text whose last place is always the prompt's."""

    def write(self, model, prompt, count):
        self.ended = torch.zeros(len(prompt), dtype=torch.bool)
        for _ in range(count):
            new = self.fill(self.draw(self.last(model, prompt)), prompt)
            prompt = torch.cat([new.unsqueeze(1), prompt], dim=1)
            if self.end_id is not None and self.stop():
                break
        return prompt


wrong_text(read_in_front_too, like="new_tokens_in_front")


class of_the_first_row(Writing):
    """One draw with the first row's probabilities."""

    def draw(self, logits):
        return super().draw(logits) if self.settings[0] == 0 else super().draw(logits[:1]).expand(len(logits))


wrong_text(of_the_first_row, like="one_draw_for_all_rows")


class after_the_first_step(Writing):
    """The whole prompt at first, then the newest token alone, as for a model with caches."""

    def last(self, model, text):
        return model(text if text.shape[1] == self.start else text[:, -1:])[:, -1]


class of_its_last_token(Writing):
    def fill(self, new, text):
        if self.end_id is not None:
            self.ended = self.ended | (text[:, -1] == self.end_id)
        return super().fill(new, text)


wrong_text(after_the_first_step, like="last_token_alone_read")
wrong_text(of_its_last_token, like="end_in_the_prompt_counted")


@wrong_text
class gradients_off_for_good(Writing):
    """torch.set_grad_enabled(False) in place of torch.no_grad()."""

    def around(self, model, prompt, count):
        torch.set_grad_enabled(False)
        return super().around(model, prompt, count)


@wrong_text
class greedy_below_temperature_one(Writing):
    def draw(self, logits):
        return logits.argmax(dim=-1) if self.settings[0] < 1 else super().draw(logits)


@wrong_text
class top_p_forgotten_beside_top_k(Writing):
    def draw(self, logits):
        temperature, top_k, top_p = self.settings
        self.settings = (temperature, top_k, None if top_k else top_p)
        return super().draw(logits)


@wrong_text
class mode_restored_after_one_token(Writing):
    def last(self, model, text):
        logits = super().last(model, text)
        if isinstance(model, torch.nn.Module):
            model.train(self.training)
        return logits

    def around(self, model, prompt, count):
        self.training = getattr(model, "training", False)
        return super().around(model, prompt, count)


@wrong_text
class ids_made_int64(Writing):
    def write(self, model, prompt, count):
        return super().write(model, prompt.long(), count)


@wrong_text
class same_seed_at_each_call(Writing):
    def draw(self, logits):
        self.generator = self.generator or torch.Generator().manual_seed(0)
        return super().draw(logits)
