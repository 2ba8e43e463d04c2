# profile: 1.34/2022
kubelet.exe --kubeconfig=C:\k\config --config=C:\var\lib\kubelet\config.yaml
