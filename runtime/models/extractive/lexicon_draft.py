import re, Stemmer
STOPWORDS=frozenset("a about above after again against all am an and any are aren as at be because been before being below between both but by can cannot could did didn do does doesn doing don down during each few for from further had has have having he her here hers herself him himself his how i if in into is isn it its itself just ll let me more most my myself no nor not now of off on once only or other our ours ourselves out over own re s same shan she should so some such t than that the their theirs them themselves then there these they this those through to too under until up us ve very was we were weren what when where which while who whom why will with won would you your yours yourself yourselves".split())
_T=re.compile(r"[A-Za-z0-9_]+(?:[.\-/:][A-Za-z0-9_]+)*|[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+|[^\W\d_]+", re.U)
_S=Stemmer.Stemmer('english')
def is_cjk(c): return '\u3040'<=c<='\u30ff' or '\u3400'<=c<='\u9fff' or '\uf900'<=c<='\ufaff' or '\uac00'<=c<='\ud7af'
_P=re.compile(r"[A-Za-z]+|\d+")
def words(t):
    out=[]
    for m in _T.finditer(t):
        w=m.group()
        if is_cjk(w[0]):
            out += [w] if len(w)==1 else [w[i:i+2] for i in range(len(w)-1)]
        else:
            l=w.lower(); out.append(l)
            if not w.isalnum() or (not w.isalpha() and not w.isdigit()):
                p=[x.lower() for x in _P.findall(w)]
                if p!=[l]: out+=p
    return out
def stems(t): 
    return _S.stemWords([w for w in words(t) if w not in STOPWORDS])
