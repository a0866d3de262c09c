"""Worker processes, in which the app has heavy work done beside the one that serves its pages.

`pool` hands calls to them, `child` is what each does. They are the app's own processes and speak by pickle over the
pipes that stand between a process and its child: nothing is read that another has written, and nothing comes into a
file. They are started as new interpreters, which `multiprocessing` calls "spawn"; its own way to do that has every
child import the main module once more, which under Streamlit is Streamlit itself or the script of the app.
"""
