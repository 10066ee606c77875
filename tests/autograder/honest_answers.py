"""Five whole answers to the exercises of chapter 2 with NumPy, as people write them who have not seen each other's."""

import re
import textwrap

from autograder.build import stubs

ANSWERS = {
    "short": {
        "2.1": """
            X = np.asarray(inputs)
            return X @ np.asarray(w_query), X @ np.asarray(w_key), X @ np.asarray(w_value)""",
        "2.2": "return np.asarray(queries) @ np.asarray(keys).T",
        "2.3": """
            s = np.asarray(scores, dtype=float)
            m = s.max(axis=axis, keepdims=True)
            m = np.where(np.isinf(m), 0, m)
            e = np.exp(s - m)
            t = e.sum(axis=axis, keepdims=True)
            return np.divide(e, t, out=np.zeros_like(e), where=t != 0)""",
        "2.4": "return np.asarray(weights) @ np.asarray(values)",
        "2.5": """
            q, k, v = project(inputs, w_query, w_key, w_value)
            s = dot_scores(q, k)
            if scale:
                s = s / np.sqrt(k.shape[-1])
            w = softmax(s)
            return weighted_sum(w, v), w""",
    },
    "long": {
        "2.1": """
            inputs = np.array(inputs)
            queries = inputs @ np.array(w_query)
            keys = inputs @ np.array(w_key)
            values = inputs @ np.array(w_value)
            return queries, keys, values""",
        "2.2": """
            queries = np.array(queries)
            keys = np.array(keys)
            return queries @ keys.T""",
        "2.3": """
            x = np.asarray(scores, dtype=float)
            mx = np.max(x, axis=axis, keepdims=True)
            mx[mx == -np.inf] = 0
            ex = np.exp(x - mx)
            s = np.sum(ex, axis=axis, keepdims=True)
            s[s == 0] = 1
            return ex / s""",
        "2.4": """
            weights = np.array(weights)
            values = np.array(values)
            return weights @ values""",
        "2.5": """
            queries, keys, values = project(inputs, w_query, w_key, w_value)
            scores = dot_scores(queries, keys)
            if scale:
                scores = scores / np.sqrt(np.array(keys).shape[1])
            weights = softmax(scores)
            outputs = weighted_sum(weights, values)
            return outputs, weights""",
    },
    "matmul": {
        "2.1": "return tuple(np.matmul(inputs, w) for w in (w_query, w_key, w_value))",
        "2.2": "return np.matmul(queries, np.transpose(keys))",
        "2.3": """
            s = np.asarray(scores, dtype=np.float64)
            biggest = np.max(s, axis=axis, keepdims=True)
            biggest = np.where(np.isfinite(biggest), biggest, 0.0)
            e = np.exp(s - biggest)
            total = e.sum(axis=axis, keepdims=True)
            return e / np.where(total == 0, 1, total)""",
        "2.4": "return np.matmul(weights, values)",
        "2.5": """
            q, k, v = project(inputs, w_query, w_key, w_value)
            scores = np.asarray(dot_scores(q, k))
            if scale:
                scores = scores / np.sqrt(len(k[0]))
            weights = softmax(scores, axis=-1)
            return weighted_sum(weights, v), weights""",
    },
    "dot": {
        "2.1": "return np.dot(inputs, w_query), np.dot(inputs, w_key), np.dot(inputs, w_value)",
        "2.2": "return np.dot(np.array(queries), np.array(keys).T)",
        "2.3": """
            scores = np.array(scores, dtype=float)
            with np.errstate(invalid="ignore", divide="ignore"):
                e = np.exp(scores - scores.max(axis=axis, keepdims=True))
                w = e / e.sum(axis=axis, keepdims=True)
            return np.nan_to_num(w)""",
        "2.4": "return np.dot(weights, values)",
        "2.5": """
            queries, keys, values = project(inputs, w_query, w_key, w_value)
            divisor = math.sqrt(len(w_key[0])) if scale else 1.0
            attention = softmax(np.array(dot_scores(queries, keys)) / divisor, -1)
            return np.dot(attention, values), attention""",
    },
    "capitals": {
        "2.1": "return tuple(map(np.asarray(inputs).dot, (w_query, w_key, w_value)))",
        "2.2": "return np.asarray(queries) @ np.transpose(keys)",
        "2.3": """
            x = np.asarray(scores, dtype=float)
            m = np.max(x, axis=axis, keepdims=True)
            m = np.where(m == -np.inf, 0.0, m)
            e = np.exp(x - m)
            z = np.sum(e, axis=axis, keepdims=True)
            return np.where(z > 0, e / np.where(z > 0, z, 1), 0.0)""",
        "2.4": "return np.asarray(weights) @ np.asarray(values)",
        "2.5": """
            Q, K, V = project(inputs, w_query, w_key, w_value)
            A = softmax(dot_scores(Q, K) / (np.sqrt(K.shape[-1]) if scale else 1))
            return weighted_sum(A, V), A""",
    },
}


def module(answers: dict[str, str]) -> str:
    """worked_example.py with these answers, by the number of the exercise, in the places of the stub's refusals."""
    text = "import math\n\nimport numpy as np\n" + stubs.all_stubs()["worked_example.py"]
    for number, answer in answers.items():
        refusal = re.search(rf' *raise NotImplementedError\("exercise {re.escape(number)}: .*\n', text)
        body = textwrap.indent(textwrap.dedent(answer).strip(), "    ")
        text = f"{text[: refusal.start()]}{body}\n{text[refusal.end() :]}"
    return text
