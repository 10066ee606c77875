"""Wrong steps of training, each with the line that the stub gives."""

import warnings

from . import misconception

STEP = "classifier.train_step"


def wrong_step(function, like=""):
    """The given line in front of a wrong step; like: see `misconception`."""

    def step(model, batch, optimizer, loss_fn):
        if len(batch) < 2:
            raise ValueError(f"batch must be (*inputs, target), at least two tensors, got {len(batch)}")
        return function(model, batch, optimizer, loss_fn)

    step.__name__ = function.__name__
    return misconception(STEP, like)(step)


def loss_of(model, batch, loss_fn):
    *inputs, target = batch
    return loss_fn(model(*inputs), target)


def stepped(model, batch, optimizer, loss_fn):
    """A right step; returns the loss as a tensor."""
    model.train()
    return stepped_as_it_is(model, batch, optimizer, loss_fn)


def stepped_as_it_is(model, batch, optimizer, loss_fn):
    """A step in whatever mode the model is in; returns the loss as a tensor."""
    optimizer.zero_grad()
    loss = loss_of(model, batch, loss_fn)
    loss.backward()
    optimizer.step()
    return loss


@wrong_step
def returns_a_tensor(*args):
    return stepped(*args)


@wrong_step
def nothing_returned(*args):
    stepped(*args)


@wrong_step
def loss_after_the_step(model, batch, optimizer, loss_fn):
    stepped(model, batch, optimizer, loss_fn)
    return loss_of(model, batch, loss_fn).item()


@wrong_step
def loss_times_rows(model, batch, optimizer, loss_fn):
    return stepped(model, batch, optimizer, loss_fn).item() * len(batch[-1])


@wrong_step
def loss_over_rows(model, batch, optimizer, loss_fn):
    """The loss is a mean already, and is divided once more."""
    return stepped(model, batch, optimizer, lambda output, target: loss_fn(output, target) / len(target)).item()


@wrong_step
def loss_rounded(*args):
    return round(stepped(*args).item(), 2)


def to_three_decimals(*args):
    return round(stepped(*args).item(), 3)


wrong_step(to_three_decimals, like="loss_rounded")


@wrong_step
def called_twice(model, batch, optimizer, loss_fn):
    """Once for the number that is returned, once more for backward."""
    model.train()
    before = loss_of(model, batch, loss_fn).item()
    stepped(model, batch, optimizer, loss_fn)
    return before


@wrong_step
def old_gradients_kept(model, batch, optimizer, loss_fn):
    model.train()
    loss = loss_of(model, batch, loss_fn)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@wrong_step
def no_update(model, batch, optimizer, loss_fn):
    model.train()
    loss = loss_of(model, batch, loss_fn)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong_step
def stepped_with_old_gradients(model, batch, optimizer, loss_fn):
    model.train()
    loss = loss_of(model, batch, loss_fn)
    optimizer.step()
    optimizer.zero_grad()
    loss.backward()
    return loss.item()


@wrong_step
def mode_untouched(*args):
    return stepped_as_it_is(*args).item()


@wrong_step
def mode_set_too_late(model, batch, optimizer, loss_fn):
    optimizer.zero_grad()
    loss = loss_of(model, batch, loss_fn)
    model.train()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong_step
def evaluation_at_the_end(model, batch, optimizer, loss_fn):
    loss = stepped(model, batch, optimizer, loss_fn).item()
    model.eval()
    return loss


@wrong_step
def loss_arguments_exchanged(model, batch, optimizer, loss_fn):
    return stepped(model, batch, optimizer, lambda output, target: loss_fn(target, output)).item()


@wrong_step
def answer_squeezed(model, batch, optimizer, loss_fn):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of the two shapes
        return stepped(model, batch, optimizer, lambda output, target: loss_fn(output.squeeze(), target)).item()


@wrong_step
def first_input_only(model, batch, optimizer, loss_fn):
    return stepped(model, (batch[0], batch[-1]), optimizer, loss_fn).item()


@wrong_step
def target_given_to_the_model(model, batch, optimizer, loss_fn):
    return stepped(model, (*batch, batch[-1]), optimizer, loss_fn).item()


@wrong_step
def inputs_as_one_list(model, batch, optimizer, loss_fn):
    *inputs, target = batch
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), target)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong_step
def flag_of_the_model_alone(model, batch, optimizer, loss_fn):
    """The attribute is set, and no layer inside is told."""
    model.training = True
    return stepped_as_it_is(model, batch, optimizer, loss_fn).item()


@wrong_step
def target_made_float(model, batch, optimizer, loss_fn):
    return stepped(model, (*batch[:-1], batch[-1].float()), optimizer, loss_fn).item()
