import json,sys,polars as pl
for d in sys.argv[1:]:
    try: r=json.load(open(f'/tmp/ws/{d}/result.json'))['results'][0]
    except Exception as e: print(d,'missing',e); continue
    e=r['equal_length']; p=pl.read_parquet(f'/tmp/ws/{d}/log_likelihoods.parquet')
    p=p.unique(['split','context_id','high_id','low_id'],keep='first')
    t=(p['tokens_high']-p['tokens_low'])
    def rate(m): 
        q=p.filter(m); return f"{100*q['passed'].mean():.1f} of {q.height}" if q.height else 'n/a'
    print(f"{d:26} raw {100*r['pass_rate']:.1f} [{100*r['interval'][0]:.1f}, {100*r['interval'][1]:.1f}] n {r['n']} | equal "+(f"{100*e['pass_rate']:.1f} [{100*e['interval'][0]:.1f}, {100*e['interval'][1]:.1f}] slope {e['slope']:+.2f} near {e['near']} of {e['n']} empty {e['empty']}" if e and e['interval'] else str(e)), '| more', rate(t>0),'| equal',rate(t==0),'| fewer',rate(t<0), '| fewer_b',r['baselines']['fewer_tokens'] and round(r['baselines']['fewer_tokens']['with_coin'],3))
