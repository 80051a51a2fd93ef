"""The toolkit: the Python with which a cell of code begins, so that the way to an answer is one call.

It runs in the sandbox, over the tools that are functions there; what it returns is plain data.
"""

TOOLKIT = """\
import json
import re

def searched(pattern, sources, pages):
    hits, by_source, cursor, error = [], [], 0, ""
    while cursor is not None and pages and not error:
        source = sources[0] if len(sources) == 1 else ""
        page = search(pattern=pattern, source=source, cursor=cursor)
        error, cursor, pages = page.get("error", ""), page.get("next_cursor"), pages - 1
        hits += [hit for hit in page.get("hits", []) if not sources or hit["source"] in sources]
        by_source = page.get("by_source", by_source)
    return hits, [each["source"] for each in by_source], cursor is not None, error

def ranked(query, k):
    return [each["span_id"] for each in rank(query=query, k=k).get("passages", [])]

def said(claim):
    text = " ".join(claim["text"].split())
    first = [dict(quote) for quote in claim["quotes"][:1]]
    for quote in first:
        if " ".join(quote["quote"].split()) in text:
            quote["quote"] = ""
    kept = {name: claim[name] for name in ("claim_id", "status", "time")}
    return {**kept, "text": text, "quotes": first}

def read(query, ids, k):
    ids = ids[:1000]
    seen = subcall(question=query, span_ids=ids)
    if "error" in seen:
        fewer = ids[:k] or ranked(query, k)
        if fewer and fewer != ids:
            ids = fewer
            seen = subcall(question=query, span_ids=ids)
    claims = seen.get("claims", [])
    while seen.get("next_cursor") is not None and len(claims) < 10000:
        seen = subcall(question=query, span_ids=ids, cursor=seen["next_cursor"])
        claims = claims + seen.get("claims", [])
    return {"claims": [said(claim) for claim in claims]}

def apart(sources, most):
    listed = {} if sources else list_sources()
    names = sources or [each["source"] for each in listed.get("sources", [])]
    few = 1 < len(names) <= most and listed.get("next_cursor") is None
    return [[name] for name in names] if few else [sources]

def read_each(query, groups, k):
    return {"claims": [claim for ids in groups for claim in read(query, ids, k)["claims"]]}

def thinned(found, most):
    groups = {}
    for claim in found["claims"]:
        source = claim["quotes"][0]["source"] if claim["quotes"] else ""
        kind = source + " " + re.sub("[0-9]+", "#", claim["text"])[:160]
        groups.setdefault(kind, []).append(claim)
    kept = []
    for group in groups.values():
        last = len(group) - 1
        if last < most:
            kept += group
        else:
            kept += [group[last * i // (most - 1)] for i in range(most)]
    return {"claims": kept}

def read_ranked(query, k):
    ids = ranked(query, k)
    return read(query, ids, k) if ids else {"claims": []}

def read_found(query, pattern, sources, k, pages, complete, widens):
    hits, places, more, error = searched(pattern, sources, pages)
    ids = list(dict.fromkeys([hit["span_id"] for hit in hits]))
    if complete and more:
        return read(query, sources or places or ids, k)
    if ids:
        return read(query, ids, k)
    return read_ranked(query, k) if error or widens else {"claims": []}

def counted(pattern, by, source):
    seen = count(pattern=pattern, by=by, source=source)
    if "error" in seen and by == "time":
        seen = count(pattern=pattern, by="", source=source)
    return {"count": seen}

def ends(query, pattern, sources, k, pages):
    hits, _, _, error = searched(pattern, sources, pages)
    if error and not hits:
        return read_ranked(query, k)
    groups = {}
    for hit in hits:
        groups.setdefault(hit["source"], []).append(hit)
    lines = []
    for group in groups.values():
        by_text = sorted(group, key=lambda hit: hit["text"])
        lines += [group[0], group[-1], by_text[0], by_text[-1]]
    return {"lines": lines}
"""
