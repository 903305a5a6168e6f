"""Azure: the login, the clients of a subscription, their answers as plain data, and their errors in words.

Commands choose the requests and judge the answers, elsewhere.
"""
