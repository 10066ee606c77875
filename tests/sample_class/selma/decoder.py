def generate(model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, end_id=None, generator=None):
    check_prompt(prompt, max_new_tokens, end_id, temperature, top_k, top_p, model=model, generator=generator)
    was_training = isinstance(model, nn.Module) and model.training
    if was_training:
        model.eval()
    text = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            p = next_token_probabilities(model(text)[:, -1], temperature, top_k, top_p)
            new = p.argmax(dim=-1, keepdim=True) if temperature == 0 else torch.multinomial(p, 1, generator=generator)
            text = torch.cat([text, new.to(text.dtype)], dim=1)
            if end_id is not None and (new == end_id).any():
                break
    if was_training:
        model.train()
    return text
